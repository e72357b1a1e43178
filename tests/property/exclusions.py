"""Cases where Ingot is right and its peers are not, each with the sentence of the ONNX text that says so. At most 30."""

EXCLUSIONS = (
)


def reason(draft, opset, found, text):
    """Why a disagreement does not count; None where it does."""
    for names, applies, sentence in EXCLUSIONS:
        if draft.name in names and applies(draft, opset, found, text):
            return sentence
    return None
