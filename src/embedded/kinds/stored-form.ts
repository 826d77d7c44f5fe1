import type { KubeObject } from "../../kube/objects.ts";
import { type JsonObject, jsonOf } from "../json.ts";
import type { Conversion } from "../registry.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { prune } from "../schema/prune.ts";
import type { Schema } from "../schema/schema.ts";

/** One version of a custom kind, as far as its objects' form goes. */
export interface VersionForm {
  readonly apiVersion: string;
  readonly schema: Schema;
}

/**
 * Objects of a custom kind are kept in its storage version, whichever version they were written through: what that
 * version does not know is lost. What comes out has the storage version's defaults, also those that came later than the
 * object, and of its fields those that the version read through knows. Pure, and each object is converted once.
 */
export function storedForm(served: VersionForm, storage: VersionForm): Conversion {
  const isSame = served.apiVersion === storage.apiVersion;
  const known = new WeakMap<KubeObject, KubeObject>();
  return {
    toStored: (object) => (isSame ? object : inForm(object, storage)),
    fromStored: (object) => {
      const found = known.get(object);
      if (found) return found;
      const complete = withDefaults(inForm(object, storage), storage.schema);
      const read = isSame ? complete : inForm(complete, served);
      known.set(object, read);
      return read;
    },
  };
}

function inForm(object: KubeObject, { apiVersion, schema }: VersionForm): KubeObject {
  const pruned = prune(jsonOf(object), schema, { isResourceRoot: true }) as JsonObject as KubeObject;
  return pruned.apiVersion === apiVersion ? pruned : { ...pruned, apiVersion };
}

function withDefaults(object: KubeObject, schema: Schema): KubeObject {
  const { metadata: _, ...properties } = schema.properties ?? {};
  return applyDefaults(jsonOf(object), { ...schema, properties }) as JsonObject as KubeObject;
}
