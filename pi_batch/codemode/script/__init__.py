"""The language of scripts: policy, guards, modules, scheduler; runs in the locked worker."""
