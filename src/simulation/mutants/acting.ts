import { rotationClass } from "../../api/keyturn/rotation-class.ts";
import { impersonating, serviceAccountUser } from "../../kube/impersonating.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { SecretPublisher, secretType } from "../../publish/secret-publisher.ts";
import { readRotatingSpec } from "../../reconcile/parents/generic/rotating-spec.ts";
import type { Tampering } from "../assembly.ts";
import { FINGERPRINTER } from "../fingerprinter.ts";
import { actOf, type Mutant } from "./mutant.ts";
import { overriding } from "./tampering.ts";

/** Whatever is asked, it is asked with the operator's own rights. */
const asOperator = (kube: Kube): Kube =>
  new Proxy(kube, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...input: readonly unknown[]) => unknown;
      return (...input: readonly unknown[]) => method.apply(target, input.map(withoutUser));
    },
  });

function withoutUser(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("as" in value)) return value;
  const { as: _, ...rest } = value;
  return rest;
}

/** Rights of the account, and no other bounds. */
const unbounded = (): Tampering => {
  let operator: Kube | undefined;
  return {
    parents: {
      kube: (kube) => {
        operator = kube;
        return kube;
      },
      family: (family) => ({
        ...family,
        accessOf: (object) => {
          if (!operator) throw new TypeError("a family is made of what a process has");
          const kube = impersonating(operator, serviceAccountUser(readRotatingSpec(object).account));
          return { kube, publisher: new SecretPublisher(kube, FINGERPRINTER) };
        },
      }),
    },
  };
};

/** A class that was seen once counts for ever. */
const rememberedClasses: Tampering = {
  parents: {
    watch: (watch) => {
      const seen = new Map<string, KubeObject>();
      const find = (type: ResourceType, key: string): KubeObject | undefined => {
        const found = watch.find(type, key);
        if (type.kind !== rotationClass.kind) return found;
        if (found) seen.set(key, found);
        return seen.get(key);
      };
      return overriding(watch, { find });
    },
  },
};

/** Rules about parents whose children are of kinds that are not ours. */
export const ACTING: readonly Mutant[] = (
  [
    {
      rule: "actsAs",
      name: "children and Secrets are touched with the operator's own rights",
      tampering: { parents: { kube: asOperator } },
      stories: ["create"],
    },
    {
      rule: "classAtUse",
      name: "a class that was taken away still counts",
      tampering: rememberedClasses,
      focus: actOf("loseRights"),
      stories: ["rotate"],
    },
    {
      rule: "childNames",
      name: "whatever bears a parent's marks is its child",
      tampering: unbounded(),
      stories: ["impostor"],
    },
    {
      rule: "childSecretOwned",
      name: "a Secret that says nothing of its child is left so",
      tampering: {
        parents: {
          kube: (kube) => ({
            ...kube,
            patch: async (type, ref, patch, options) =>
              type.kind === secretType.kind ? kube.get(type, ref, options) : kube.patch(type, ref, patch, options),
          }),
        },
      },
      focus: actOf("deleteResource"),
      stories: ["create"],
    },
  ] satisfies readonly Mutant[]
).map((mutant) => ({ ...mutant, family: "generic" }));
