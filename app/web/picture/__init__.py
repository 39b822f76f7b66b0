"""The picture that an unfurled link shows: a step of a scenario, 1200 x 630, drawn by the server.

`content` decides what is said, `drawing` where it stands; `canvas` has the strokes, `lettering` the glyphs, `palette` the
colours, which are those of the page. Whatever the scenario, the picture is bounded: it shows the first of everything and
says how many more there are.
"""
