INPUTS = {"a": "f32[m, k]", "b": "f32[k, n]", "c0": "f32[m, n]", "alpha": "float = 1.5", "beta": "float = -0.5"}


def reference(a, b, c0, alpha: float, beta: float):
    return alpha * (a @ b) + beta * c0
