/** Creates a value, such as a module, on first use: `lazy(() => import('./rare.ts'))`. */
export function lazy<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
