import { DEMO_PACE } from "./operator-options.ts";

/** What `keyturn up` says when it is up. */
export interface UpPlaces {
  readonly api: string;
  readonly kubeconfig: string;
  readonly sandbox: string;
  readonly cloudFoundry: string;
  /** What the pods of name servers run. */
  readonly named: string;
  readonly metrics: string | undefined;
  /** The link that opens it. */
  readonly dashboard: string | undefined;
  /** Undefined when nothing is kept. */
  readonly folder: string | undefined;
  readonly hasExamples: boolean;
  /** Among the examples. */
  readonly hasNameServers: boolean;
  readonly hasOperator: boolean;
  /** How the other commands are called here. */
  readonly program: string;
}

export function upBanner(places: UpPlaces): string {
  const { api, kubeconfig, sandbox, cloudFoundry, named, metrics, dashboard, folder, hasOperator } = places;
  const rows = [
    ...(dashboard === undefined ? [] : [`  dashboard   ${dashboard}`]),
    `  API         ${api}`,
    `  kubeconfig  ${kubeconfig}`,
    `  sandbox     ${sandbox}  (stands in for SAP Service Manager)`,
    `              ${cloudFoundry}  (stands in for Cloud Foundry)`,
    `  named       ${named}`,
    ...(metrics === undefined ? [] : [`  metrics     ${metrics}/metrics`]),
    `  state       ${folder ?? "nothing is kept"}`,
    ...(hasOperator ? [] : [`  operator    none; to run one: ${operatorCommand(places)}`]),
  ];
  return `
Keyturn is up.

${rows.join("\n")}

Try, in another terminal:

  export KUBECONFIG=${shellWord(kubeconfig)}
${toTry(places).join("\n")}

Ctrl-C stops it.${folder === undefined ? "" : " The next start goes on from here."} What happens now:

`;
}

/** Examples rotate faster than an operator lets them where nothing else is said. */
const operatorCommand = ({ program, kubeconfig }: UpPlaces): string =>
  `${program} operator --kubeconfig ${shellWord(kubeconfig)} --min-frequency ${DEMO_PACE.minFrequency} --min-rotate-after ${DEMO_PACE.minRotateAfter}`;

function toTry({ hasExamples, hasNameServers, program, sandbox, cloudFoundry }: UpPlaces): readonly string[] {
  if (!hasExamples) return ["  kubectl get servicebindings", `  curl ${sandbox}/sandbox/`];
  return [
    "  kubectl get servicebindings -w",
    "  kubectl get rotatingcredentialbindings,servicecredentialbindings",
    ...(hasNameServers ? ["  kubectl -n dns get bind9clusters,bind9instances,rndckeys"] : []),
    `  ${program} status`,
    `  ${program} rotate servicebinding search-index --wait`,
    `  ${program} consumers orders-db -n shop`,
    "  kubectl -n shop delete secret orders-db",
    "",
    "or let the Service Manager, or Cloud Foundry, be down for a while, and bring it back:",
    "",
    ...[sandbox, cloudFoundry].flatMap((url) => [
      `  curl -X PATCH ${url}/sandbox/switches -d '{"outage":"unavailable"}'`,
      `  curl -X DELETE ${url}/sandbox/switches`,
    ]),
  ];
}

/** As a shell reads it: quoted only where it has to be. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
