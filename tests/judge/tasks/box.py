import torch

INPUTS = {"image": "u8[h, w] rows"}
SIZES = "h >= 2, w >= 2"


def reference(image):
    h, w = image.shape
    padded = torch.nn.functional.pad(image.double()[None, None], (1, 1, 1, 1), mode="reflect")[0, 0].long()
    total = sum(padded[i:i + h, j:j + w] for i in range(3) for j in range(3))
    return ((2 * total + 9) // 18).to(torch.uint8)
