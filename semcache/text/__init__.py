"""Reading a text: levelling its form, fingerprinting it, and finding the facts that decide an answer."""
