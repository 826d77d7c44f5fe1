/** What is wrong with a DNS-1035 label, in the API server's words; undefined when it is fine. */
export function labelProblem(label: string): string | undefined {
  const problems: string[] = [];
  if (label.length > 63) problems.push("must be no more than 63 bytes");
  if (!/^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(label)) {
    problems.push(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
        "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
        "'[a-z]([-a-z0-9]*[a-z0-9])?')",
    );
  }
  return problems.length === 0 ? undefined : problems.join(",");
}
