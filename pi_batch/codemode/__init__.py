"""Scripts that call tools: the language (`script/`), the process around it (`worker/`), the tool itself."""
