"""Ways to find a candidate: exact, near-duplicate, semantic. They find; the judge decides."""
