/** Makes a value when it is first asked for, such as a module: `lazy(() => import('./rare.ts'))`. */
export function lazy<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
