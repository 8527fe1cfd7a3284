"""What tilevm.cutile, tilevm.triton and tilevm.tilus have in common: frontends of others, which find the VM or this package's compiler in the place of a GPU.

    state.py       on which device, with which checks: one a process
    imports.py     what is done when a module is imported
    trials.py      memory of launches that are tried, put back
    memory.py      tensors by their address
    report.py      errors and warnings with the names of Python
    command.py     `python -m tilevm.cutile|triton|tilus script.py …`, child processes included
    torch_cuda/    a torch whose GPU is the CPU
    site/          the same for child processes
"""
