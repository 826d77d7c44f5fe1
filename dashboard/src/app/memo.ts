import { type Component, type ComponentChild, createElement, type FunctionComponent } from "preact";

/** Draws anew only when something that it is given has changed: for rows of long lists. */
export function memo<P extends object>(view: (props: P) => ComponentChild): FunctionComponent<P> {
  function Memo(this: Component<P>, props: P): ComponentChild {
    this.shouldComponentUpdate = (next) => differs(this.props, next);
    return createElement(view as FunctionComponent<P>, props);
  }
  // Preact makes an instance of any function, which its type does not say.
  return Memo as unknown as FunctionComponent<P>;
}

function differs(a: object, b: object): boolean {
  for (const key in a) if (!(key in b)) return true;
  for (const key in b) {
    if (a[key as keyof typeof a] !== b[key as keyof typeof b]) return true;
  }
  return false;
}
