/** An AG-UI event. Source: the specification, version 1.0, and `EventSchemas` of `@ag-ui/core` 0.0.59. */
export interface AgUiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** The version that the server reports to clients that speak it. */
export const PROTOCOL_VERSION = '1.0'

/**
 * Whether a client has declared version 1.0 or newer. Older clients fail on outcomes that they do not know.
 */
export const speaksV1 = (protocolVersion: string | undefined): boolean =>
  protocolVersion !== undefined && Number.parseInt(protocolVersion, 10) >= 1
