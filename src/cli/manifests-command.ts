import { UsageError } from "../base/errors.ts";
import { isImageReference } from "../base/image-reference.ts";
import { manifests } from "../install/manifests.ts";
import { dashboardConfigMap } from "../install/monitoring/dashboard.ts";
import { prometheusRule } from "../install/monitoring/prometheus-rule.ts";
import { controllerNeeds } from "../install/permissions.ts";
import type { WebDashboard } from "../install/web-dashboard.ts";
import type { Command, Flags } from "./command.ts";
import {
  controllerChoices,
  describeControllers,
  namespacesOption,
  readControllerNames,
  readNamespaces,
} from "./controller-names.ts";
import { readChoice, readNamespace } from "./flag-values.ts";
import { manifestFormat, printManifests } from "./print-manifests.ts";

const known = [...controllerNeeds.keys()];

export const manifestsCommand: Command = {
  name: "manifests",
  summary: "Print all that a cluster needs to run the operator, for kubectl apply.",
  description:
    "CRDs, admission policies, Namespace, ServiceAccount, RBAC, NetworkPolicy and Deployment, in the order in which they are\napplied.\nNothing is asked of a cluster, and applying them again is harmless. What only some clusters can take is printed when it is\nasked for, and instead: the alerts, which need the CRDs of the Prometheus operator, and the dashboard.",
  options: [
    {
      name: "namespace",
      short: "n",
      value: "NAME",
      description: "Where the operator runs.",
      default: "keyturn-system",
    },
    {
      name: "image",
      value: "IMAGE",
      description: "Image whose entrypoint is keyturn. Default: keyturn and this version.",
    },
    {
      name: "controllers",
      value: "NAMES",
      description: `Controllers to switch on, and to give rights to: ${describeControllers(known)}.`,
      default: "*",
      choices: controllerChoices(known),
    },
    namespacesOption,
    {
      name: "protect-secrets",
      description: "With a policy by which only the operator changes the data of the Secrets that it has published.",
    },
    {
      name: "serve-dashboard",
      description:
        "The operator serves the dashboard, to be looked at: with a Service, and rights to ask who somebody is.",
    },
    { name: "dashboard-changes", description: "The same, and it may change what its viewer may patch." },
    { name: "alerts", description: "Instead: the alerts, as a PrometheusRule." },
    {
      name: "dashboard",
      description: "Instead: the Grafana dashboard, in a ConfigMap with the label grafana_dashboard.",
    },
    manifestFormat,
  ],
  examples: [
    {
      command: "keyturn manifests --image registry.example/keyturn:0.2.0 | kubectl apply --server-side -f -",
      what: "Install or upgrade",
    },
    {
      command: "keyturn manifests --alerts --dashboard | kubectl apply --server-side -f -",
      what: "Alerts and dashboard",
    },
    { command: "keyturn manifests > keyturn.yaml", what: "To look at it first, or to keep it in Git" },
  ],
  run: async (flags, world) => {
    const format = readChoice(flags, "output", ["yaml", "json"]);
    const namespace = readNamespace(flags);
    const controllers = readControllerNames(flags, known);
    const scopedNamespaces = readNamespaces(flags);
    const protectSecrets = flags.isOn("protect-secrets");
    const image = imageIn(flags) ?? `keyturn:${world.version}`;
    const monitoring = [
      ...(flags.isOn("alerts") ? [prometheusRule(namespace)] : []),
      ...(flags.isOn("dashboard") ? [dashboardConfigMap(namespace)] : []),
    ];
    if (monitoring.length > 0) refuseIdle(flags);
    const items =
      monitoring.length > 0
        ? monitoring
        : manifests({ namespace, image, controllers, scopedNamespaces, protectSecrets, dashboard: dashboardIn(flags) });
    world.stdout.write(printManifests(items, format));
    return 0;
  },
};

function imageIn(flags: Flags): string | undefined {
  const image = flags.text("image");
  if (image === undefined || isImageReference(image)) return image;
  throw new UsageError(
    `--image: "${image}" cannot be an image: [HOST[:PORT]/]PATH[:TAG][@DIGEST], without blanks, and no capitals in the path`,
  );
}

/** What is said of the operator, and means nothing where it is not printed. */
function refuseIdle(flags: Flags): void {
  const switches = ["protect-secrets", "serve-dashboard", "dashboard-changes"].filter((name) => flags.isOn(name));
  const texts = ["image", "controllers", "namespaces"].filter((name) => !["*", undefined].includes(flags.text(name)));
  const idle = [...texts, ...switches].map((name) => `--${name}`);
  if (idle.length === 0) return;
  throw new UsageError(
    `--alerts and --dashboard are printed instead of the operator, of which ${idle.join(", ")} would speak: leave out one or the other`,
  );
}

function dashboardIn(flags: Flags): WebDashboard | undefined {
  const mayChange = flags.isOn("dashboard-changes");
  return mayChange || flags.isOn("serve-dashboard") ? { mayChange } : undefined;
}
