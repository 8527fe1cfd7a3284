

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            c = product(a, b)
        torch.cuda.current_stream().wait_stream(side)
        return c
