import { defineProviderConformance } from "../../src/providers/conformance.fixture.ts";
import { startBind } from "./bind-harness.ts";

defineProviderConformance({ name: "keys of named", start: startBind });
