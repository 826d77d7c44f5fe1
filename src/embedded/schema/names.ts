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

/** What is wrong with a DNS-1123 subdomain, in the API server's words; undefined when it is fine. */
export function subdomainProblem(name: string): string | undefined {
  const problems: string[] = [];
  if (name.length > 253) problems.push("must be no more than 253 bytes");
  if (!name.split(".").every((part) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(part))) {
    problems.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
        "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  }
  return problems.length === 0 ? undefined : problems.join(",");
}
