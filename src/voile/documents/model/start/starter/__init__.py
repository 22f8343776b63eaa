"""voile's pretrained classifier, trained on public text, which scores parts of names."""
