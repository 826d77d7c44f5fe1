import { formatInstant } from "../../../base/instant.ts";
import { type Finding, hint, judged, ok, problem, type Sight } from "../finding.ts";

/** What came of the first words with the API server. */
export type Contact =
  /** No whole answer; the code is that of the socket or of TLS, empty where there is none. */
  | { readonly kind: "none"; readonly code: string; readonly message: string }
  /** Something answers, and it is no Kubernetes. */
  | { readonly kind: "stranger"; readonly message: string }
  /** It does not know who asks. */
  | { readonly kind: "refused" }
  | {
      readonly kind: "answers";
      /** Undefined where it is not told. */
      readonly version: string | undefined;
      /** Who it takes us for. */
      readonly user: string | undefined;
      /** Such as `v1` and `apps/v1`. */
      readonly groupVersions: Sight<readonly string[]>;
      readonly servesPolicies: Sight<boolean>;
    };

export interface ServerFacts {
  readonly address: string;
  /** Where the access comes from, as people know it. */
  readonly origin: string;
  readonly contact: Contact;
  /** When the credentials end, as far as they say so themselves. */
  readonly credentialsEndAt: number | undefined;
  readonly now: number;
}

/** Before that release the rules in our schemas are not kept, or not understood. */
const OLDEST = { major: 1, minor: 29 };

/** What every cluster has; a server without is made for something else. */
const NEEDED = ["v1", "apps/v1", "batch/v1", "apiextensions.k8s.io/v1", "coordination.k8s.io/v1", "events.k8s.io/v1"];

/** Whether the API server is there, is what it seems, lets us in, and is one that the operator can run on. */
export function judgeServer(facts: ServerFacts): readonly Finding[] {
  const { address, contact } = facts;
  switch (contact.kind) {
    case "none":
      return [noAnswer(facts, contact)];
    case "stranger":
      return [
        problem(
          address,
          `what answers is not a Kubernetes API server that works: ${contact.message}`,
          `correct the server in ${facts.origin}; behind a proxy or a gateway, look there`,
        ),
      ];
    case "refused":
      return [refusal(facts)];
    case "answers":
      return [
        ok(address, `answers: Kubernetes ${contact.version ?? "of a version it does not tell"}${asWhom(contact.user)}`),
        ...versionFindings(address, contact.version),
        ...judged(contact.groupVersions, address, (served) => missingGroups(address, served)),
        ...judged(contact.servesPolicies, address, (serves) => (serves ? [] : [noPolicies(address)])),
      ];
  }
}

const asWhom = (user: string | undefined): string => (user === undefined ? "" : `, asked as ${user}`);

interface Silence {
  readonly codes: readonly string[];
  readonly message: string;
  readonly remedy: string;
}

const SILENCES: readonly Silence[] = [
  {
    codes: [
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "CERT_SIGNATURE_FAILURE",
      "CERT_UNTRUSTED",
    ],
    message: "its certificate is signed by nobody that the kubeconfig trusts",
    remedy:
      "put the authority of this cluster into certificate-authority-data, or correct the address: it may be another cluster's",
  },
  {
    codes: ["CERT_HAS_EXPIRED"],
    message: "its certificate has ended",
    remedy: "renew the certificate of the API server; if it is in order, set the clock of this machine",
  },
  {
    codes: ["CERT_NOT_YET_VALID"],
    message: "its certificate is not valid yet",
    remedy: "set the clock of this machine; if it is right, renew the certificate of the API server",
  },
  {
    codes: ["ERR_TLS_CERT_ALTNAME_INVALID"],
    message: "its certificate is for another name",
    remedy: "use a name that the certificate has, or say it as tls-server-name in the kubeconfig",
  },
  {
    codes: ["ECONNREFUSED"],
    message: "nothing listens there",
    remedy: "start the API server, or correct host and port in the kubeconfig",
  },
  {
    codes: ["ENOTFOUND", "EAI_AGAIN"],
    message: "nobody knows that host",
    remedy: "correct the host in the kubeconfig, or look at DNS",
  },
];

function noAnswer(
  { address, origin }: ServerFacts,
  { code, message }: { readonly code: string; readonly message: string },
): Finding {
  const known = SILENCES.find(({ codes }) => codes.includes(code));
  if (known) return problem(address, `${known.message} (${origin})`, known.remedy);
  return problem(
    address,
    `does not answer (${origin}): ${message}`,
    "see whether it runs, whether this is the right one, and whether proxies and firewalls let you through",
  );
}

function refusal({ address, origin, credentialsEndAt, now }: ServerFacts): Finding {
  return credentialsEndAt !== undefined && credentialsEndAt <= now
    ? problem(
        address,
        `the credentials of ${origin} ended at ${formatInstant(credentialsEndAt)}`,
        "log in again, or have a new token or certificate issued",
      )
    : problem(
        address,
        `does not accept the credentials of ${origin}`,
        "log in again; a kubeconfig of another cluster, or of one that was made anew, is refused as well",
      );
}

function versionFindings(address: string, version: string | undefined): readonly Finding[] {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  if (major === undefined || minor === undefined) return [];
  const isNewEnough = Number(major) > OLDEST.major || (Number(major) === OLDEST.major && Number(minor) >= OLDEST.minor);
  if (isNewEnough) return [];
  return [
    problem(
      address,
      `Kubernetes ${version} is too old: the rules in the schemas need ${OLDEST.major}.${OLDEST.minor}`,
      "upgrade the cluster",
    ),
  ];
}

function missingGroups(address: string, served: readonly string[]): readonly Finding[] {
  const missing = NEEDED.filter((groupVersion) => !served.includes(groupVersion));
  if (missing.length === 0) return [];
  return [
    problem(
      address,
      `does not serve ${missing.join(", ")}`,
      "use the API server of a whole cluster; one that only keeps objects runs no operator",
    ),
  ];
}

const noPolicies = (address: string): Finding =>
  hint(
    address,
    "does not serve ValidatingAdmissionPolicy v1: what is allowed but will surprise is warned of in conditions alone",
    "Kubernetes 1.30 has it; on an older one leave the objects of that kind out of the manifests",
  );
