/** What is photographed, and at which sizes. Pure data. */
export interface Shot {
  readonly name: string;
  readonly path: string;
  /** What has to be there before. */
  readonly shown: string;
  /** Pressed before the picture is taken. */
  readonly button?: string;
  readonly isPrinted?: true;
  /** Left out: at every size. */
  readonly sizes?: readonly (keyof typeof SIZES)[];
}

export const SIZES = { wide: [1440, 900], middling: [1024, 768], narrow: [390, 844] } as const;

export const SHOTS: readonly Shot[] = [
  { name: "overview", path: "/", shown: ".overview .figures" },
  { name: "timeline", path: "/timeline?span=1mo", shown: ".track .bar-foreseen" },
  { name: "credentials", path: "/credentials", shown: ".credentials .name" },
  { name: "credential", path: "/credential/ServiceBinding/orders-db", shown: ".chart .bar-foreseen" },
  {
    name: "rotate",
    path: "/credential/ServiceBinding/orders-db",
    shown: "dialog[open] .bar-foreseen",
    button: "Rotate now",
  },
  {
    name: "compromised",
    path: "/credential/ServiceBinding/orders-db",
    shown: "dialog[open] .bar-foreseen",
    button: "Compromised",
    sizes: ["wide"],
  },
  {
    name: "credential-problem",
    path: "/credential/ServiceBinding/customers-db",
    shown: ".chart .bar-foreseen",
    sizes: ["wide"],
  },
  {
    name: "credential-held",
    path: "/credential/ServiceBinding/reports-db",
    shown: ".chart .bar-foreseen",
    sizes: ["wide"],
  },
  { name: "consumers", path: "/consumers?namespace=shop", shown: "[aria-labelledby='workloads'] .lines li" },
  { name: "secret", path: "/consumers/shop/orders-db", shown: "table" },
  { name: "evidence", path: "/evidence?maxPeriod=30d", shown: "table.report" },
];

/** As it comes out of a printer, on A4: what is left between the margins. */
export const PRINTED: Shot = {
  name: "evidence-print",
  path: "/evidence?maxPeriod=30d",
  shown: "table.report",
  isPrinted: true,
};
export const PAPER = { width: 1032, height: 703 } as const;

/** These also in the dark. */
export const DARK: readonly string[] = ["overview", "timeline", "credentials"];
