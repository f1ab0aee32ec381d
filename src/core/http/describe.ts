/** JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The request and responses of a route, for OpenAPI. The path parameters are derived from its pattern. */
export interface RouteDescription {
  readonly summary: string
  /** The query parameters by name. */
  readonly query?: Readonly<Record<string, JsonSchema>> | undefined
  readonly body?: JsonSchema | undefined
  /** The response bodies by status; null for an empty body. Errors are added automatically. */
  readonly answers: Readonly<Record<number, JsonSchema | null>>
  /**
   * Whether the 200 response is a stream of server-sent events, instead of JSON or as an alternative.
   * Default: false.
   */
  readonly streams?: boolean | undefined
}

/** By method and pattern, such as `GET /threads/:thread_id`. */
export type RouteDescriptions = Readonly<Record<`${string} /${string}`, RouteDescription>>
