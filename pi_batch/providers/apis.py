"""pi's names of the wires: what a session writes beside each reply, so that its signatures find back."""

from __future__ import annotations

CHAT = "openai-completions"
RESPONSES = "openai-responses"
MESSAGES = "anthropic-messages"
GEMINI = "google-generative-ai"
