import { defineProviderConformance } from "../../src/providers/conformance.fixture.ts";
import { startChildren } from "./children-harness.ts";

defineProviderConformance({ name: "children of a parent", start: startChildren });
