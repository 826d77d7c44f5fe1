import { admission } from "./admission.ts";
import type { BrokenSetUp } from "./broken-set-up.ts";
import { configurations } from "./configurations.ts";
import { definitions } from "./definitions.ts";
import { operator } from "./operator.ts";
import { others, rights } from "./others.ts";
import { servers, strangers } from "./servers.ts";

/** Everything that `keyturn check` has to find, in the order in which it is looked at. */
export const brokenSetUps: readonly BrokenSetUp[] = [
  ...servers,
  ...strangers,
  ...definitions,
  ...rights,
  ...admission,
  ...operator,
  ...configurations,
  ...others,
];
