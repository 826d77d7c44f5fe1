import { defineProviderConformance } from "../../src/providers/conformance.fixture.ts";
import { start, type Variant } from "./cloud-foundry-harness.ts";

const synchronous: Variant = { broker: "synchronous", login: "user", switches: { largestPage: 10 } };
const asynchronous: Variant = {
  broker: "asynchronous",
  login: "origin",
  switches: { largestPage: 10, retryAfter: "none", missingCode: 90004 },
};
/** As Korifi is: tokens from elsewhere, and metadata only on what is there already. */
const bare: Variant = {
  broker: "asynchronous",
  login: "token",
  switches: { largestPage: 10, metadataInCreate: "refused", uaa: "absent" },
};
/** Jobs that wait for a worker, and are forgotten as soon as they are done. */
const forgetful: Variant = {
  broker: "synchronous",
  login: "client",
  switches: { largestPage: 10, retryAfter: "epoch", jobQueueMs: 5_000, jobMemoryMs: 0 },
};

defineProviderConformance({ name: "Cloud Foundry, synchronous broker", start: () => start(synchronous) });
defineProviderConformance({ name: "Cloud Foundry, asynchronous broker", start: () => start(asynchronous) });
defineProviderConformance({ name: "Cloud Foundry without metadata in a create", start: () => start(bare) });
defineProviderConformance({ name: "Cloud Foundry with slow, forgetful jobs", start: () => start(forgetful) });
