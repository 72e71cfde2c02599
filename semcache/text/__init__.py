"""Reading a text: levelling its form, its fingerprint, and the facts that decide an answer."""
