/** What `npm test` leaves out because it needs more than the checkout, each with the command that tests it. */
export interface MissingPart {
  readonly what: string;
  readonly command: string;
}

export async function missingParts(): Promise<readonly MissingPart[]> {
  return [
    {
      what: "The same conformance, operator, rotation, restart and BIND suites on a real control plane (needs Go 1.26; builds once, about 5 minutes).",
      command: "npm run test:cluster",
    },
  ];
}
