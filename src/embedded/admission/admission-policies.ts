import type { KubeObject } from "../../kube/objects.ts";
import { POLICIES, POLICY_BINDINGS } from "../kinds/admission-policy.ts";
import { asObject, asText, asTexts } from "../kinds/json-fields.ts";
import { forbidden } from "../refusals.ts";
import { StatusError } from "../status-error.ts";
import type { Store } from "../store.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";
import { CompiledPolicy, type Objection } from "./compiled-policy.ts";
import { matchesResources } from "./match-resources.ts";

interface BoundPolicy {
  readonly policy: CompiledPolicy;
  readonly bindings: readonly Binding[];
}

interface Binding {
  readonly name: string;
  /** Absent: all that the policy itself matches. */
  readonly match: ReturnType<typeof asObject> | undefined;
  readonly actions: readonly string[];
}

/** With each reason a policy may give goes a code. */
const CODES: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
};

/**
 * Applies the ValidatingAdmissionPolicies in the store to writes, as their bindings ask: refuse, or warn. They hold from
 * the write that makes them. Must not: cost anything where there are none; audit annotations go nowhere, since nothing
 * here keeps an audit log.
 */
export class AdmissionPolicies implements Admission {
  readonly #store: Store;
  #bound: readonly BoundPolicy[] | undefined;

  constructor(store: Store) {
    this.#store = store;
    for (const kind of [POLICIES, POLICY_BINDINGS]) store.onChange(kind, () => this.#forget());
  }

  review(request: AdmissionRequest): readonly string[] {
    this.#bound ??= this.#compile();
    if (this.#bound.length === 0 || isExempt(request)) return [];
    const warnings: string[] = [];
    let refusal: StatusError | undefined;
    const namespace = this.#namespaceOf(request);
    for (const { policy, binding, objection } of this.#objections(request, namespace)) {
      const origin = `ValidatingAdmissionPolicy '${policy}' with binding '${binding.name}'`;
      if (binding.actions.includes("Warn")) warnings.push(`Validation failed for ${origin}: ${objection.message}`);
      if (binding.actions.includes("Deny")) {
        refusal ??= denial(request, `${origin} denied request: ${objection.message}`, objection);
      }
    }
    if (refusal) throw refusal;
    return warnings;
  }

  *#objections(
    request: AdmissionRequest,
    namespace: KubeObject | undefined,
  ): Generator<{ readonly policy: string; readonly binding: Binding; readonly objection: Objection }> {
    for (const { policy, bindings } of this.#bound ?? []) {
      if (!policy.matches(request, namespace)) continue;
      const meant = bindings.filter(({ match }) => match === undefined || matchesResources(match, request, namespace));
      // What a policy says of a request does not depend on who asks: without parameters, bindings only differ in action.
      const objections = meant.length === 0 ? [] : policy.judge(request, namespace);
      for (const binding of meant) {
        for (const objection of objections) yield { policy: policy.name, binding, objection };
      }
    }
  }

  #forget(): void {
    this.#bound = undefined;
  }

  #compile(): readonly BoundPolicy[] {
    const bindings = Map.groupBy(this.#store.list(POLICY_BINDINGS), ({ spec }) => asText(asObject(spec).policyName));
    return this.#store.list(POLICIES).flatMap((policy) => {
      const own = bindings.get(policy.metadata.name) ?? [];
      return own.length === 0 ? [] : [{ policy: new CompiledPolicy(policy), bindings: own.map(readBinding) }];
    });
  }

  #namespaceOf({ namespace }: AdmissionRequest): KubeObject | undefined {
    return namespace === undefined ? undefined : this.#store.get("namespaces", namespace);
  }
}

function readBinding({ metadata, spec }: KubeObject): Binding {
  const { matchResources, validationActions } = asObject(spec);
  return {
    name: metadata.name,
    match: matchResources === undefined ? undefined : asObject(matchResources),
    actions: asTexts(validationActions),
  };
}

/** Else a policy could lock out its own removal. */
const isExempt = ({ definition, subresource }: AdmissionRequest): boolean =>
  definition.group === "admissionregistration.k8s.io" || subresource === "scale";

function denial(request: AdmissionRequest, message: string, { reason }: Objection): StatusError {
  const refusal = forbidden(request.definition, request.name, message);
  return new StatusError(CODES[reason] ?? 422, reason, refusal.message, { ...refusal.details, causes: [{ message }] });
}
