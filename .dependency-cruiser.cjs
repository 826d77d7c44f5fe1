/** The layers, checked: data flows one way (docs/architecture.md), and each rule says why in a word or two. */
const production = { pathNot: "\\.test\\.ts$|\\.fixture\\.ts$|-schedules\\.ts$|/recorded/" };
const layer = (name, allowed, comment) => ({
  name: `${name}-imports`,
  comment,
  severity: "error",
  from: { path: `^src/${name}/`, ...production },
  to: { path: "^src/", pathNot: [`^src/${name}/`, ...allowed.map((part) => `^src/${part}(?:/|\\.ts$)`)].join("|") },
});

/** What the two topmost layers stand on; neither imports the other. */
const beneath = [
  "base",
  "api",
  "rndc",
  "kube",
  "bind",
  "korifi",
  "engine",
  "runtime",
  "providers",
  "publish",
  "restart",
  "report",
  "audit",
  "reconcile",
  "install",
  "embedded",
  "sandbox",
];

/** What of the code the page may have: it is pure, and so is all that it imports itself. */
const forThePage = "^src/(?:dashboard/wire|insight/words/(?:when|visible)|base/instant)\\.ts$";

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      severity: "error",
      comment: "a cycle has no first layer",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-unresolvable",
      severity: "error",
      comment: "an import that is not there",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-dev-dependencies",
      severity: "error",
      comment: "what ships must not need what does not",
      from: { path: "^src/", pathNot: "\\.test\\.ts$|\\.fixture\\.ts$|-schedules\\.ts$|/recorded/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "no-tests-in-production",
      severity: "error",
      comment: "tests import code, never the other way",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: { path: "\\.test\\.ts$|^test/|^tools/" },
    },
    {
      name: "one-seed",
      severity: "error",
      comment: "properties come from src/base/properties.fixture.ts, which gives every run the same seed",
      from: { pathNot: "^src/base/properties\\.fixture\\.ts$" },
      to: { path: "node_modules/fast-check" },
    },
    layer("base", [], "base imports nothing of ours"),
    layer("api", ["base"], "kinds are data"),
    layer("kube", ["base"], "the port knows no kind of ours"),
    layer("runtime", ["base", "kube"], "knows keys, never credentials"),
    layer("engine", ["base"], "pure: from a situation to a step"),
    // Of bind/ only the ring and the fields of a key: values, which know nothing of Kubernetes.
    layer("providers", ["base", "rndc", "bind/key-ring", "bind/key-fields"], "never Kubernetes, never each other"),
    layer("rndc", ["base"], "a protocol, which knows nothing of who speaks it"),
    // Of ours only the protocol of BIND, which both sides write in the same way.
    layer("sandbox", ["base", "rndc"], "stands in for systems that know nothing of us"),
    layer("bind", ["base", "api", "kube", "rndc"], "pure: what becomes of the settings of RNDC keys"),
    // Of publish/ only what a published Secret says of itself.
    layer("korifi", ["base", "api", "kube", "publish"], "pure: what applications see of service credentials"),
    layer("publish", ["base", "kube"], "writes Secrets"),
    layer("restart", ["base", "kube", "engine", "publish"], "pure: whom a change restarts, and when"),
    layer("report", ["base", "kube"], "conditions, events, metrics"),
    layer("audit", ["base", "kube", "publish"], "writes down what was done; decides nothing"),
    layer(
      "reconcile",
      // Of the embedded server only its CEL: what a resource says in it means the same as in a schema.
      [
        "base",
        "api",
        "rndc",
        "bind",
        "korifi",
        "engine",
        "kube",
        "runtime",
        "providers",
        "publish",
        "restart",
        "report",
        "audit",
        "embedded/schema/cel",
      ],
      "one folder per family of kinds; it wires, it does not decide",
    ),
    layer("install", ["base", "api", "kube"], "manifests are data"),
    layer("embedded", ["base", "kube"], "an API server for any client, not for this operator"),
    layer("insight", beneath, "what people are told, as values; prints and serves nothing"),
    layer("dashboard", [...beneath, "insight"], "serves what people are told; knows no command"),
    layer("cli", [...beneath, "insight", "dashboard"], "commands sit on top"),
    {
      name: "page-imports",
      severity: "error",
      comment: "of the code the page knows what it is told, the words for times, and nothing of Node's",
      from: { path: `^dashboard/src/|${forThePage}`, pathNot: "\\.test\\.ts$" },
      to: {
        path: "^(src|test|tools)/|^dashboard/dev/",
        pathNot: forThePage,
      },
    },
    {
      name: "page-without-node",
      severity: "error",
      comment: "a browser has none of it",
      from: { path: `^dashboard/src/|${forThePage}`, pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
    layer("simulation", beneath, "a world for production code, without its commands"),
    {
      name: "main-is-the-top",
      severity: "error",
      comment: "nothing imports main but what starts it",
      from: { path: "^(src|tools|test)/", pathNot: "^src/start\\.ts$" },
      to: { path: "^src/main\\.ts$" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    parser: "swc",
    enhancedResolveOptions: {
      extensions: [".ts", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
    },
  },
};
