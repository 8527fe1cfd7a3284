"""What tilevm.cutile and tilevm.triton have in common: frontends of others, which find the VM or this package's compiler in the place of a GPU.

    state.py       on which device, with which checks: one a process
    imports.py     what is done when a module is imported
    trials.py      memory of launches that are tried, put back
    report.py      errors and warnings with the names of Python
    command.py     `python -m tilevm.cutile|triton script.py …`, child processes included
    torch_cuda/    a torch whose GPU is the CPU
    site/          the same for child processes
"""
