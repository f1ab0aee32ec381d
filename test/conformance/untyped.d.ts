// These packages have no types, and the targets do not need their @types.
declare module 'express'
declare module 'express4'
declare module 'compression'
