import type { Fault } from "../../src/kube/faulty-transport.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";
import type { FaultName, ProviderHarness } from "../../src/providers/conformance-harness.fixture.ts";

type ProviderFault = ProviderHarness["faults"][FaultName];
type Plan = ((request: TransportRequest) => Fault | undefined) | undefined;

/** What can go wrong at an API server that is somebody's outside. `begin` says from now on what becomes of requests. */
export function kubeFaults(begin: (plan: Plan) => void, create: TransportRequest["method"]) {
  const answers = (answer: Fault): ProviderFault => ({ set: (isOn) => begin(isOn ? () => answer : undefined) });
  const lostAnswer: ProviderFault = {
    set: (isOn) =>
      begin(
        isOn
          ? ({ method }) => {
              if (method !== create) return undefined;
              begin(undefined);
              return { kind: "lose" };
            }
          : undefined,
      ),
  };
  return {
    outage: answers(answerOf(503, "ServiceUnavailable")),
    routerNotFound: answers({ kind: "answer", status: 404, headers: PLAIN_BODY, body: "nothing here" }),
    silence: answers({ kind: "hang" }),
    throttling: answers({ ...answerOf(429, "TooManyRequests"), headers: { ...JSON_BODY, "retry-after": "3" } }),
    forbidden: answers(answerOf(403, "Forbidden")),
    eventualConsistency: { impossible: "the API server reads what was written" },
    expiredTokens: { impossible: "the client of the API server sees to its own" },
    lostAnswer,
  } as const satisfies Partial<Record<FaultName, ProviderFault>>;
}

const PLAIN_BODY = { "content-type": "text/plain" };
const JSON_BODY = { "content-type": "application/json" };

const answerOf = (code: number, reason: string): Extract<Fault, { kind: "answer" }> => ({
  kind: "answer",
  status: code,
  headers: JSON_BODY,
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message: reason, reason, code }),
});
