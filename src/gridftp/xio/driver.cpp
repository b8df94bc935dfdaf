// SPDX-License-Identifier: Apache-2.0
/// The driver as Globus XIO loads it: the functions that Globus calls.
///
/// No call waits for the network and none of Globus' functions is called on a thread of ours: what cannot be done at
/// once waits for an event that Globus' own loop watches. So it serves programs with and without threads alike
/// (ADR-0017).
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

extern "C" {
#include <globus_xio_driver.h>
#include <globus_xio_load.h>
#include <globus_xio_system.h>
#include <globus_xio_util.h>
}

#include "gridftp/xio/engine.hpp"
#include "gridftp/xio/process.hpp"
#include "gridftp/xio/settings.hpp"
#include "lib/bridge/wake_event.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp::xio {
namespace {

globus_result_t to_globus(const Error& error) {
  return globus_error_put(globus_error_construct_error(GLOBUS_XIO_MODULE, nullptr, GLOBUS_XIO_ERROR_SYSTEM_ERROR,
                                                       "udtcat", "udtcat", 0, "udtcat: %s", error.message().c_str()));
}

globus_result_t end_of_file() {
  GlobusXIOName(udtcat);
  return GlobusXIOErrorEOF();
}

globus_result_t no_such_command(int command) {
  GlobusXIOName(udtcat);
  return GlobusXIOErrorInvalidCommand(command);
}

/// One wait for a WakeEvent, as Globus' event loop knows it. The operation that waits can be cancelled there, or time
/// out; the callback then has the error.
/// Threads: as Globus calls: one wait at a time.
class EventWait {
 public:
  explicit EventWait(const bridge::WakeEvent& event) : event_(event) {}
  EventWait(const EventWait&) = delete;
  EventWait& operator=(const EventWait&) = delete;
  ~EventWait();

  /// `callback` gets `argument`, on a thread of Globus, once the event is raised. It may be called before this returns.
  [[nodiscard]] globus_result_t start(globus_xio_operation_t operation, globus_xio_system_data_callback_t callback,
                                      void* argument);

 private:
  const bridge::WakeEvent& event_;
  globus_xio_system_file_handle_t system_ = nullptr;
  std::array<std::byte, bridge::WakeEvent::kBytes> count_{};
};

EventWait::~EventWait() {
  if (system_ != nullptr) globus_xio_system_file_destroy(system_);
}

globus_result_t EventWait::start(globus_xio_operation_t operation, globus_xio_system_data_callback_t callback,
                                 void* argument) {
  if (system_ == nullptr)
    if (const globus_result_t made = globus_xio_system_file_init(&system_, event_.number()); made != GLOBUS_SUCCESS)
      return made;
  const globus_xio_iovec_t room{count_.data(), count_.size()};
  return globus_xio_system_file_register_read(operation, system_, 0, &room, 1, count_.size(), callback, argument);
}

// ---- Options --------------------------------------------------------------------------------------------------------

const Settings& settings_of(const void* attribute) {
  static const Settings defaults;
  return attribute == nullptr ? defaults : *static_cast<const Settings*>(attribute);
}

globus_result_t attribute_init(void** out) {
  *out = new Settings();
  return GLOBUS_SUCCESS;
}

globus_result_t attribute_copy(void** out, void* from) {
  *out = new Settings(settings_of(from).duplicate());
  return GLOBUS_SUCCESS;
}

globus_result_t attribute_destroy(void* attribute) {
  const std::unique_ptr<Settings> owned(static_cast<Settings*>(attribute));
  return GLOBUS_SUCCESS;
}

/// There is no table of options, so that Globus passes their text on, and unknown ones are errors.
globus_result_t attribute_cntl(void* attribute, int command, va_list arguments) {
  if (command != GLOBUS_XIO_SET_STRING_OPTIONS) return no_such_command(command);
  const char* text = va_arg(arguments, const char*);
  const Status set = static_cast<Settings*>(attribute)->set_all(text == nullptr ? "" : text);
  return set ? GLOBUS_SUCCESS : to_globus(set.error());
}

// ---- A data connection ----------------------------------------------------------------------------------------------

/// A handle, in Globus' words. The operations are those that wait.
struct Handle {
  explicit Handle(std::shared_ptr<XioLink> of)
      : link(std::move(of)), reading(link->read_event()), writing(link->write_event()) {}

  const std::shared_ptr<XioLink> link;
  globus_xio_operation_t read_operation = nullptr;   // an open or a read
  globus_xio_operation_t write_operation = nullptr;  // a write or a close
  EventWait reading;
  EventWait writing;
};

/// A link on its way from accept() to open().
struct AcceptedLink {
  std::shared_ptr<XioLink> link;
};

void finish_open(std::unique_ptr<Handle> handle, globus_xio_operation_t operation, const OperationState& progress) {
  if (progress.error) return globus_xio_driver_finished_open(nullptr, operation, to_globus(*progress.error));
  globus_xio_driver_finished_open(handle.release(), operation, GLOBUS_SUCCESS);
}

void on_open_event(globus_result_t result, globus_size_t, void* argument) {
  std::unique_ptr<Handle> handle(static_cast<Handle*>(argument));
  globus_xio_operation_t operation = handle->read_operation;
  OperationState progress;
  if (result == GLOBUS_SUCCESS) {
    progress = handle->link->open_progress();
    if (progress.done) return finish_open(std::move(handle), operation, progress);
    result = handle->reading.start(operation, on_open_event, handle.get());
    if (result == GLOBUS_SUCCESS) return std::ignore = handle.release(), void();
  }
  handle->link->abandon();
  globus_xio_driver_finished_open(nullptr, operation, result);
}

Result<std::shared_ptr<XioLink>> dial(const globus_xio_contact_t* contact, const Settings& settings) {
  const std::string port_text = contact->port == nullptr ? "" : contact->port;
  const Contact to{contact->host == nullptr ? "" : contact->host,
                   core::parse_number<std::uint16_t>(port_text).value_or(0)};
  if (to.host.empty() || to.port == 0)
    return fail(Errc::bad_argument, "open a data connection", "the contact has no host or no port");
  UDTCAT_TRY(auto key, Process::self().key(settings));
  UDTCAT_TRY(auto request, XioEngine::request_for(to, settings, std::move(key)));
  UDTCAT_TRY(auto engine, Process::self().engine());
  return engine->dial(std::move(request));
}

globus_result_t open(const globus_xio_contact_t* contact, void* driver_link, void* attribute,
                     globus_xio_operation_t operation) {
  std::shared_ptr<XioLink> link;
  if (driver_link != nullptr) {
    link = std::move(static_cast<AcceptedLink*>(driver_link)->link);
  } else {
    auto dialled = dial(contact, settings_of(attribute));
    if (!dialled) return to_globus(dialled.error());
    link = std::move(*dialled);
  }
  auto handle = std::make_unique<Handle>(std::move(link));
  handle->read_operation = operation;
  const OperationState progress = handle->link->open_progress();
  if (progress.done) {
    finish_open(std::move(handle), operation, progress);
    return GLOBUS_SUCCESS;
  }
  Handle* const waiting = handle.release();
  const globus_result_t started = waiting->reading.start(operation, on_open_event, waiting);
  if (started != GLOBUS_SUCCESS) {
    handle.reset(waiting);
    handle->link->abandon();
  }
  return started;
}

void finish_read(globus_xio_operation_t operation, const OperationState& progress) {
  globus_result_t result = GLOBUS_SUCCESS;
  if (progress.error)
    result = to_globus(*progress.error);
  else if (progress.ended)
    result = end_of_file();
  globus_xio_driver_finished_read(operation, result, progress.bytes);
}

void on_read_event(globus_result_t result, globus_size_t, void* argument) {
  auto& handle = *static_cast<Handle*>(argument);
  globus_xio_operation_t operation = handle.read_operation;
  if (result == GLOBUS_SUCCESS) {
    const OperationState progress = handle.link->read_progress();
    if (progress.done) return finish_read(operation, progress);
    result = handle.reading.start(operation, on_read_event, &handle);
    if (result == GLOBUS_SUCCESS) return;
  }
  globus_xio_driver_finished_read(operation, result, handle.link->stop_read());
}

globus_result_t read(void* driver_handle, const globus_xio_iovec_t* pieces, int count,
                     globus_xio_operation_t operation) {
  auto& handle = *static_cast<Handle*>(driver_handle);
  std::vector<std::span<std::byte>> into;
  into.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) into.emplace_back(static_cast<std::byte*>(pieces[i].iov_base), pieces[i].iov_len);
  handle.read_operation = operation;
  const OperationState progress =
      handle.link->start_read(std::move(into), globus_xio_operation_get_wait_for(operation));
  if (progress.done) {
    finish_read(operation, progress);
    return GLOBUS_SUCCESS;
  }
  const globus_result_t started = handle.reading.start(operation, on_read_event, &handle);
  if (started != GLOBUS_SUCCESS) std::ignore = handle.link->stop_read();
  return started;
}

void finish_write(globus_xio_operation_t operation, const OperationState& progress) {
  globus_xio_driver_finished_write(operation, progress.error ? to_globus(*progress.error) : GLOBUS_SUCCESS,
                                   progress.bytes);
}

void on_write_event(globus_result_t result, globus_size_t, void* argument) {
  auto& handle = *static_cast<Handle*>(argument);
  globus_xio_operation_t operation = handle.write_operation;
  if (result == GLOBUS_SUCCESS) {
    const OperationState progress = handle.link->write_progress();
    if (progress.done) return finish_write(operation, progress);
    result = handle.writing.start(operation, on_write_event, &handle);
    if (result == GLOBUS_SUCCESS) return;
  }
  globus_xio_driver_finished_write(operation, result, handle.link->stop_write());
}

globus_result_t write(void* driver_handle, const globus_xio_iovec_t* pieces, int count,
                      globus_xio_operation_t operation) {
  auto& handle = *static_cast<Handle*>(driver_handle);
  std::vector<std::span<const std::byte>> from;
  from.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    from.emplace_back(static_cast<const std::byte*>(pieces[i].iov_base), pieces[i].iov_len);
  handle.write_operation = operation;
  const OperationState progress = handle.link->start_write(std::move(from));
  if (progress.done) {
    finish_write(operation, progress);
    return GLOBUS_SUCCESS;
  }
  const globus_result_t started = handle.writing.start(operation, on_write_event, &handle);
  if (started != GLOBUS_SUCCESS) std::ignore = handle.link->stop_write();
  return started;
}

void finish_close(std::unique_ptr<Handle> handle, globus_result_t result) {
  globus_xio_operation_t operation = handle->write_operation;
  handle.reset();
  globus_xio_driver_finished_close(operation, result);
}

void on_close_event(globus_result_t result, globus_size_t, void* argument) {
  std::unique_ptr<Handle> handle(static_cast<Handle*>(argument));
  if (result == GLOBUS_SUCCESS) {
    const OperationState progress = handle->link->close_progress();
    if (progress.done)
      return finish_close(std::move(handle), progress.error ? to_globus(*progress.error) : GLOBUS_SUCCESS);
    result = handle->writing.start(handle->write_operation, on_close_event, handle.get());
    if (result == GLOBUS_SUCCESS) return std::ignore = handle.release(), void();
  }
  handle->link->abandon();  // cancelled: the program does not wait for the receipt
  finish_close(std::move(handle), result);
}

globus_result_t close(void* driver_handle, void*, globus_xio_operation_t operation) {
  std::unique_ptr<Handle> handle(static_cast<Handle*>(driver_handle));
  handle->write_operation = operation;
  const OperationState progress = handle->link->start_close();
  if (progress.done) {
    finish_close(std::move(handle), progress.error ? to_globus(*progress.error) : GLOBUS_SUCCESS);
    return GLOBUS_SUCCESS;
  }
  Handle* const waiting = handle.release();
  const globus_result_t started = waiting->writing.start(operation, on_close_event, waiting);
  if (started == GLOBUS_SUCCESS) return GLOBUS_SUCCESS;
  handle.reset(waiting);
  handle->link->abandon();
  finish_close(std::move(handle), started);
  return GLOBUS_SUCCESS;
}

// ---- The passive side -----------------------------------------------------------------------------------------------

/// A server, in Globus' words.
struct Server {
  explicit Server(std::shared_ptr<XioAcceptor> of) : acceptor(std::move(of)), waiting(acceptor->event()) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { Process::self().release(acceptor); }

  const std::shared_ptr<XioAcceptor> acceptor;
  globus_xio_operation_t operation = nullptr;
  std::string contact;
  EventWait waiting;  // ends before what it waits for
};

Result<std::unique_ptr<Server>> listen(const Settings& settings) {
  UDTCAT_TRY(auto key, Process::self().key(settings));
  UDTCAT_TRY(const auto ports, Process::udp_ports());
  UDTCAT_TRY(auto engine, Process::self().engine());
  UDTCAT_TRY(auto acceptor, engine->listen(settings, std::move(key), ports));
  return std::make_unique<Server>(std::move(acceptor));
}

globus_result_t server_init(void* attribute, const globus_xio_contact_t*, globus_xio_operation_t operation) {
  auto server = listen(settings_of(attribute));
  if (!server) return to_globus(server.error());
  // The dialling side has the host from the control connection; only the port is ours to tell.
  std::string host = "0.0.0.0";
  std::string port = std::to_string((*server)->acceptor->port());
  (*server)->contact = host + ":" + port;
  globus_xio_contact_t contact{};
  contact.unparsed = (*server)->contact.data();
  contact.host = host.data();
  contact.port = port.data();
  const globus_result_t passed = globus_xio_driver_pass_server_init(operation, &contact, server->get());
  if (passed == GLOBUS_SUCCESS) std::ignore = server->release();
  return passed;
}

globus_result_t server_destroy(void* driver_server) {
  const std::unique_ptr<Server> server(static_cast<Server*>(driver_server));
  return GLOBUS_SUCCESS;
}

void finish_accept(globus_xio_operation_t operation, const XioAcceptor::Accepted& accepted) {
  if (accepted.error) return globus_xio_driver_finished_accept(operation, nullptr, to_globus(*accepted.error));
  globus_xio_driver_finished_accept(operation, new AcceptedLink{accepted.link}, GLOBUS_SUCCESS);
}

void on_accept_event(globus_result_t result, globus_size_t, void* argument) {
  auto& server = *static_cast<Server*>(argument);
  globus_xio_operation_t operation = server.operation;
  if (result == GLOBUS_SUCCESS) {
    if (const auto accepted = server.acceptor->accept()) return finish_accept(operation, *accepted);
    result = server.waiting.start(operation, on_accept_event, &server);
    if (result == GLOBUS_SUCCESS) return;
  }
  globus_xio_driver_finished_accept(operation, nullptr, result);
}

globus_result_t accept(void* driver_server, globus_xio_operation_t operation) {
  auto& server = *static_cast<Server*>(driver_server);
  if (const auto accepted = server.acceptor->accept()) {
    finish_accept(operation, *accepted);
    return GLOBUS_SUCCESS;
  }
  server.operation = operation;
  return server.waiting.start(operation, on_accept_event, &server);
}

globus_result_t link_destroy(void* driver_link) {
  const std::unique_ptr<AcceptedLink> accepted(static_cast<AcceptedLink*>(driver_link));
  if (accepted->link) accepted->link->abandon();
  return GLOBUS_SUCCESS;
}

// ---- Questions ------------------------------------------------------------------------------------------------------

/// Globus frees what it is given.
globus_result_t give_text(va_list arguments, const std::string& text) {
  *va_arg(arguments, char**) = globus_libc_strdup(text.c_str());
  return GLOBUS_SUCCESS;
}

globus_result_t answer_of_link(XioLink& link, int command, va_list arguments) {
  if (command != GLOBUS_XIO_GET_REMOTE_CONTACT && command != GLOBUS_XIO_GET_REMOTE_NUMERIC_CONTACT)
    return no_such_command(command);
  return give_text(arguments, link.peer().to_string());
}

globus_result_t handle_cntl(void* driver_handle, int command, va_list arguments) {
  return answer_of_link(*static_cast<Handle*>(driver_handle)->link, command, arguments);
}

globus_result_t link_cntl(void* driver_link, int command, va_list arguments) {
  return answer_of_link(*static_cast<AcceptedLink*>(driver_link)->link, command, arguments);
}

globus_result_t server_cntl(void* driver_server, int command, va_list arguments) {
  if (command != GLOBUS_XIO_GET_LOCAL_CONTACT && command != GLOBUS_XIO_GET_LOCAL_NUMERIC_CONTACT)
    return no_such_command(command);
  return give_text(arguments, static_cast<Server*>(driver_server)->contact);
}

// ---- The module -----------------------------------------------------------------------------------------------------

globus_result_t driver_init(globus_xio_driver_t* out) {
  globus_xio_driver_t driver = nullptr;
  if (const globus_result_t made = globus_xio_driver_init(&driver, "udtcat", nullptr); made != GLOBUS_SUCCESS)
    return made;
  globus_xio_driver_set_transport(driver, open, close, read, write, handle_cntl);
  globus_xio_driver_set_server(driver, server_init, accept, server_destroy, server_cntl, link_cntl, link_destroy);
  globus_xio_driver_set_attr(driver, attribute_init, attribute_copy, attribute_cntl, attribute_destroy);
  *out = driver;
  return GLOBUS_SUCCESS;
}

void driver_destroy(globus_xio_driver_t driver) { globus_xio_driver_destroy(driver); }

}  // namespace
}  // namespace udtcat::gridftp::xio

extern "C" {

GlobusXIODefineDriver(udtcat, udtcat::gridftp::xio::driver_init, udtcat::gridftp::xio::driver_destroy);

static int udtcat_activate();
static int udtcat_deactivate();

static char udtcat_module_name[] = "globus_xio_udtcat_driver";

/// The symbol that Globus looks for in libglobus_xio_udtcat_driver.so.
GlobusXIODefineModule(udtcat) = {
    udtcat_module_name, udtcat_activate, udtcat_deactivate, nullptr, nullptr, nullptr, nullptr};

static int udtcat_activate() {
  if (const int rc = globus_module_activate(GLOBUS_XIO_SYSTEM_MODULE); rc != GLOBUS_SUCCESS) return rc;
  return static_cast<int>(GlobusXIORegisterDriver(udtcat));
}

static int udtcat_deactivate() {
  udtcat::gridftp::xio::Process::self().leave();
  GlobusXIOUnRegisterDriver(udtcat);
  return globus_module_deactivate(GLOBUS_XIO_SYSTEM_MODULE);
}

}  // extern "C"
