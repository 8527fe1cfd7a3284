"""How a program is linked that ./install copies."""

# Where an installation has the libraries that a machine may lack.
INSTALLED = ["-Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib:$$ORIGIN/../lib/tilevm'"]
