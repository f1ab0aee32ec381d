/** JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What a route takes and answers, as OpenAPI has it. Parameters of the path follow from its pattern. */
export interface RouteDescription {
  readonly summary: string
  /** Parameters of the query by name. */
  readonly query?: Readonly<Record<string, JsonSchema>> | undefined
  readonly body?: JsonSchema | undefined
  /** What the body of each answer is, by its status; null where it is empty. Errors are added to them. */
  readonly answers: Readonly<Record<number, JsonSchema | null>>
  /** Whether the answer with 200 is a stream of server-sent events, instead of JSON or in addition to it. */
  readonly streams?: boolean | undefined
}

/** By method and pattern, such as `GET /threads/:thread_id`. */
export type RouteDescriptions = Readonly<Record<`${string} /${string}`, RouteDescription>>
