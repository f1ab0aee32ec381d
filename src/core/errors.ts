const BRANDS = /* @__PURE__ */ Symbol.for('agentwire.error')

/**
 * The base class of every error that this library throws on purpose. `code` is stable and machine-readable;
 * `message` says what to do.
 *
 * Each subclass sets its own `brand`. `instanceof` compares brands instead of prototypes, because the ESM and
 * CJS builds of this library may be loaded in one process.
 */
export class AgentwireError extends Error {
  static readonly brand: string = 'AgentwireError'
  readonly code: string
  /** The page of this code among the files of the package, below `node_modules`. */
  readonly docs: string

  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
    this.docs = `agentwire/docs/errors.md#${code}`
    this.name = new.target.brand
    Object.defineProperty(this, BRANDS, { value: lineage(new.target) })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false
    const brands = (value as { [BRANDS]?: readonly string[] })[BRANDS]
    // biome-ignore lint/complexity/noThisInStatic: each subclass asks for its own brand
    return brands?.includes(this.brand) ?? false
  }
}

function lineage(type: typeof AgentwireError): readonly string[] {
  const brands: string[] = []
  for (let at = type; at?.brand; at = Object.getPrototypeOf(at)) brands.push(at.brand)
  return brands
}

/** Logs an error with the id that was sent to the client: the default of every `onError`. */
export const logError = (error: unknown, { id }: { readonly id: string }): void =>
  console.error(`agentwire: error ${id}`, error)
