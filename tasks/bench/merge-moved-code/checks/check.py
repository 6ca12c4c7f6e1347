from lab import files, probe, raised, same, text, true


def check_what_theirs_wanted():
    same(probe("""
import math
from shapes import circles, polygons, rectangles
square = [(0, 0), (2, 0), (2, 2), (0, 2)]
give([rectangles.area(3), rectangles.area((2, 5)), rectangles.area(0), rectangles.scaled((1, 2)), rectangles.scaled((1, 2), factor=3),
      circles.area(2) == math.pi * 4, abs(circles.ring_area(3, 1) - math.pi * 8) < 1e-9, circles.ring_area(2, 2),
      polygons.area(square), polygons.area(square, signed=True), polygons.area(square[::-1], signed=True),
      polygons.area(square[::-1]), polygons.area(square[:2]), polygons.area([], signed=True), polygons.cross((1, 2), (3, 4))])
"""), [9, 10, 0, [2, 4], [3, 6], True, True, 0.0, 4.0, 4.0, -4.0, 4.0, 0, 0, -2], "results")


def check_what_ours_had():
    found = probe("""
from shapes import circles, rectangles
give([attempt(rectangles.area, (-1, 2)), attempt(rectangles.area, -3), attempt(circles.area, -1),
      attempt(rectangles.scaled, (1, 2), factor=-1), attempt(rectangles.scaled, (1, -2)), attempt(circles.ring_area, 1, 2),
      attempt(circles.ring_area, 1, -1), attempt(circles.ring_area, -1, -2), attempt(rectangles.scaled, (1, 2), 3)])
""")
    for one in found[:-1]:
        raised(one, "ValueError", "a size that is none")
    raised(found[-1], "TypeError", "scaled takes factor by name only")


def check_the_thin_module():
    same(probe("""
import geometry, shapes.circles, shapes.polygons, shapes.rectangles
give([geometry.rect_area is shapes.rectangles.area, geometry.rect_scale is shapes.rectangles.scaled,
      geometry.circle_area is shapes.circles.area, geometry.poly_area is shapes.polygons.area,
      geometry.ring_area is shapes.circles.ring_area])
"""), [True] * 5, "names in geometry")
    true("def " not in text("geometry.py"), "geometry.py holds no function of its own")


def check_nothing_is_left_over():
    true("theirs.patch" not in files(), "theirs.patch is deleted")
    everything = "".join(text(name) for name in files() if name.endswith(".py"))
    true("3.14159" not in everything, "PI is gone")
    true("def _cross" not in everything and "def rect_area" not in everything and everything.count("def ring_area") == 1,
         "nothing stands there twice")
