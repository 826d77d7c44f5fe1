import { Redacted } from "../../base/redacted.ts";
import { readKeyFields, type SecretValues } from "../../bind/key-fields.ts";
import { KEY_FIELDS } from "../../bind/key-secret.ts";
import { RndcKeyInvalid } from "../../rndc/errors.ts";
import type { RndcKey } from "../../rndc/key.ts";
import { ReferenceProblem } from "../managed/spec-problem.ts";

/** What a Secret with the first key gives: the key, where it has one, and what else is to be published beside it. */
export interface InitialKey {
  readonly key: RndcKey | undefined;
  readonly extraData: SecretValues;
}

export const NO_INITIAL_KEY: InitialKey = { key: undefined, extraData: new Redacted({}) };

const FIELD = "spec.initialKey.name";

/** Throws `ReferenceProblem`, with nothing of a value in it. */
export function readInitialKey(data: SecretValues): InitialKey {
  const values = data.reveal();
  const extra = Object.entries(values).filter(([name]) => !KEY_FIELDS.includes(name));
  const extraData = new Redacted(Object.fromEntries(extra));
  if (values["rndc.key"] === undefined && values.secret === undefined) return { key: undefined, extraData };
  try {
    return { key: readKeyFields(data).key, extraData };
  } catch (error) {
    if (error instanceof RndcKeyInvalid) throw new ReferenceProblem(FIELD, error.message);
    throw error;
  }
}

export const missingInitialKey = (name: string): ReferenceProblem =>
  new ReferenceProblem(FIELD, `there is no Secret ${name}`);
