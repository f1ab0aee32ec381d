// These packages bring no types, and their @types are not needed for what the targets do with them.
declare module 'express'
declare module 'express4'
declare module 'compression'
