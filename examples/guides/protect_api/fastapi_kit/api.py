"""An API in FastAPI that accepts access tokens for api1, also opaque ones and those that are bound to a key.

pip install fastapi uvicorn './api[httpx]'      # the kit, from a clone of the token service
uvicorn --port 3001 api:app
"""

from typing import Annotated

from fastapi import FastAPI
from oauth_resource_server import Caller, ClientSecret, ResourceServer
from oauth_resource_server.fastapi import Guard

api1 = ResourceServer(
    "http://localhost:8080",
    audience="api1",
    url="http://localhost:3001",
    credentials=ClientSecret("api1", "api1-secret"),
)
guard = Guard(api1)
app = FastAPI()
guard.publish_metadata(app)


@app.get("/")
async def show_caller(caller: Annotated[Caller, guard("api1")]) -> dict[str, str | None]:
    """Say who calls."""
    return {"subject": caller.subject, "client": caller.client_id}
