"""The old names."""

from shapes.circles import area as circle_area
from shapes.polygons import area as poly_area
from shapes.rectangles import area as rect_area
from shapes.rectangles import scaled as rect_scale

__all__ = ["circle_area", "poly_area", "rect_area", "rect_scale"]
