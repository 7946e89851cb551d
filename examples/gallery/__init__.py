"""The gallery: applications that the survey names, each a real program with a result and a picture.

    python -m examples.gallery.epidemic.epidemic

Each folder has a program with `main(small=False)`, which returns its results, and `picture(results)`; a page
(README.md); and the picture. Tests run every program at its small size (`tests/gallery/`).
"""
