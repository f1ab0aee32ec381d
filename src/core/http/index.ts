export { checkText, DEFAULT_MAX_BODY_BYTES, type ReadJsonOptions, readJson } from './body.ts'
export { combine } from './combine.ts'
export {
  CORS,
  type CorsOptions,
  type LangGraphCors,
  originCheck,
  withCors,
} from './cors.ts'
export {
  asText,
  type ErrorInfo,
  type ErrorOrigin,
  errorResponse,
  HttpError,
  type HttpErrorOptions,
  type OnError,
  originOf,
  reportError,
  toHttpError,
} from './errors.ts'
export { onExpiry } from './expiry.ts'
export {
  type Authenticate,
  createHandler,
  type EncodeError,
  type HandlerOptions,
  identify,
  isResponse,
  type Refusal,
} from './handler.ts'
export {
  BASE_HEADERS,
  calledUrl,
  isJsonType,
  isLocalHost,
  publicBase,
  publicOrigin,
  rejectWithoutPreflight,
} from './origins.ts'
export { empty, json, jsonList, jsonText, knownBody, type ResponseOptions } from './respond.ts'
export { createRouter, type Match, type Router, stripBase } from './router.ts'
export type { OAuthFlow, OAuthFlows, SecurityScheme, SecuritySchemes } from './security.ts'
export { type BunSocket, bunSockets, frameOf, textFrame, upgrading, writeHead } from './sockets/native.ts'
export {
  chosenProtocol,
  type SocketPeer,
  type SocketSession,
  socketOf,
  socketResponse,
  withBearer,
} from './sockets/socket.ts'
export {
  encodeSse,
  formatSse,
  idLine,
  SSE_FRAMING,
  SSE_HEADERS,
  type SseEvent,
  sseResponse,
} from './sse.ts'
export {
  createTicker,
  type IterableSource,
  type StreamFraming,
  type StreamOptions,
  type StreamSource,
  sourceOf,
  streamResponse,
  type Ticker,
} from './stream.ts'
export type {
  Authenticated,
  Call,
  Endpoint,
  HandlerContext,
  JsonSchema,
  LaterRows,
  Method,
  Principal,
  ProtocolHeaders,
  Route,
  RouteDescription,
  RouteDescriptions,
  RouteKind,
  RouteRow,
  WebHandler,
} from './types.ts'
