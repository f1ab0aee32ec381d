// These packages have no types, and their @types are not needed for the little that is used of them.
declare module 'express' {
  export { default } from 'express4'
  export interface Request {
    readonly body: Readonly<Record<string, unknown>>
  }
  export interface Response {
    status(code: number): Response
    json(body: unknown): void
    send(body: string): void
  }
}
declare module 'express4'
declare module 'compression'
declare module 'cors'
