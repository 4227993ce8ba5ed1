"""Events in numbers: payloads scanned, terms looked up, the ontology applied, without making objects."""
