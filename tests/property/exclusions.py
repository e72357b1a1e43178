"""Cases where Ingot is right and its peers are not, each with the sentence of the ONNX text that says so. At most 30."""

EXCLUSIONS = (  # operators, when, the sentence
    (("DynamicQuantizeLinear",), lambda draft, *_: not draft.inputs[0].content.any(),
     "y_scale = (maximum(0, max(x)) - minimum(0, min(x))) / (qmax - qmin)"),  # 0; the peers put 1 or 1/255 there
    (("Resize",), lambda draft, *_: draft.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch" and
     draft.attributes.get("coordinate_transformation_mode") in ("tf_crop_and_resize", "align_corners"),
     "length_resized: length of the resized tensor along the specified axis"),  # the reference takes scale times length
    (("Resize",), lambda draft, *_: draft.attributes.get("coordinate_transformation_mode") == "pytorch_half_pixel",
     "x_original = length_resized > 1 ? (x_resized + 0.5) / scale - 0.5 : 0"),  # the reference compares scale times length to 1
    (("Cast", "CastLike"), lambda draft, *_: draft.attributes.get("round_mode") == "nearest" and draft.attributes.get("saturate", 1),
     "The parameter defines how the conversion behaves if an input value is out of range of the destination type."),
    (("Attention",), lambda draft, *_: "softcap" in draft.attributes and not draft.attributes.get("qk_matmul_output_mode"),
     "If set to `0`, qk_matmul_output is the output of qk matmul."),  # the reference hands out the capped one
)


def reason(draft, opset, found, text):
    """Why a disagreement does not count; None where it does."""
    for names, applies, sentence in EXCLUSIONS:
        if draft.name in names and applies(draft, opset, found, text):
            return sentence
    return None
