// Plays a schedule in GOAL, as `loggp schedule` writes it, with SimGrid's actors, and prints the number of messages.
//
// A rank is an actor, which follows its lines in order: it need not wait to send, and a receive takes the message
// that has arrived first. A message takes LogP's L. There is neither overhead nor gap: actors that slept for those
// would take longer.

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

int main(int argc, char** argv) {
    sg4::Engine engine(&argc, argv);
    // The cheapest model: every message takes the same time, and no links fill.
    engine.set_config("network/model:Constant");
    engine.set_config("network/latency-factor:0.0000025");
    if (argc != 2) {
        std::fprintf(stderr, "usage: actors FILE.goal\n");
        return 2;
    }
    // The receivers of each rank's messages, and -1 for a receive.
    std::vector<std::vector<long>> ranks;
    std::ifstream file(argv[1]);
    long messages = 0;
    for (std::string line; std::getline(file, line);) {
        const auto sends = line.find(" send "), to = line.find(" to ");
        if (line.rfind("rank ", 0) == 0)
            ranks.emplace_back();
        else if (sends != std::string::npos && to != std::string::npos) {
            ranks.back().push_back(std::stol(line.substr(to + 4)));
            messages++;
        } else if (line.find(" recv ") != std::string::npos)
            ranks.back().push_back(-1);
    }

    auto* zone = sg4::create_empty_zone("machine");
    std::vector<sg4::Mailbox*> boxes;
    for (size_t id = 0; id < ranks.size(); id++)
        boxes.push_back(sg4::Mailbox::by_name(std::to_string(id)));
    for (size_t id = 0; id < ranks.size(); id++) {
        const std::string name = std::to_string(id);
        sg4::Actor::create(name, zone->create_host(name, 1e9)->seal(), [&, id] {
            for (const long to : ranks[id])
                if (to >= 0)
                    boxes[to]->put_init(new long(id), 8)->detach();
                else
                    delete boxes[id]->get<long>();
        });
    }
    zone->seal();
    engine.run();
    std::printf("%ld\n", messages);
}
