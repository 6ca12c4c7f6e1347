"""The engine: batch, task, the loop, the one door for tool calls, and the judge."""
