from atlas import Place, Route

HOME, AWAY = Place("Home", 0.0, 0.0), Place("Away", 0.0, 1.0)
print(f"{Route([HOME, AWAY, HOME]).length_km():.1f} km")
