declare global {
  namespace Express {
    interface Request {}
  }
}

/** What middleware adds to requests of Express: the types of sessions and of Passport extend it. */
export type OfMiddleware = Express.Request
