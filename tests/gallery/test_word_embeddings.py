"""Words of a kind lie together, and the prediction is as good as the text allows."""

from examples.gallery.word_embeddings import word_embeddings as program


def test_kinds_are_found():
    found = program.main(small=True)
    assert found["same_kind"] > 0.9
    assert found["entropy"] < found["loss"] < found["entropy"] + 0.1
