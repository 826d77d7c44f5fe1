import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { DeclaredRefusal } from "../rights/judge-rights.ts";

/** Beside the audit logs of the servers. */
export const DECLARED_REFUSALS = "declared-refusals.jsonl";

/** For a story that has an operator refused on purpose: nobody is to think that a right was forgotten. */
export function declareRefusal(refusal: DeclaredRefusal): void {
  const folder = process.env.KEYTURN_TEST_AUDIT;
  if (folder !== undefined) appendFileSync(join(folder, DECLARED_REFUSALS), `${JSON.stringify(refusal)}\n`);
}
