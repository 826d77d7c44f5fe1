/** What follows from an object that does not change, worked out once for each. It is kept no longer than the object is. */
export function onceFor<Given extends object, Result extends object | string>(
  work: (given: Given) => Result,
): (given: Given) => Result {
  const known = new WeakMap<Given, Result>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const result = work(given);
    known.set(given, result);
    return result;
  };
}
